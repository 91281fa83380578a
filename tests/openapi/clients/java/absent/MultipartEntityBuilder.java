package org.apache.http.entity.mime;

/** A replacement for the class that generated code imports for forms, but uses only to upload files. */
public final class MultipartEntityBuilder {
  private MultipartEntityBuilder() {}
}
