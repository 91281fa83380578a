package org.apache.http.entity.mime;

/** Imported by generated code wherever a form is sent, and used for files only. */
public final class MultipartEntityBuilder {
  private MultipartEntityBuilder() {}
}
