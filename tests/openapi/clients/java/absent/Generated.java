package javax.annotation;

/** A replacement for the annotation that generated code uses. The tests do not need its effect. */
public @interface Generated {
  String[] value();

  String comments() default "";

  String date() default "";
}
