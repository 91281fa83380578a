package javax.annotation;

/** Named by generated code; what it does for a build is nothing to these tests. */
public @interface Generated {
  String[] value();

  String comments() default "";

  String date() default "";
}
