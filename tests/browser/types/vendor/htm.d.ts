declare const htm: {
  bind(h: (...given: any[]) => any): (strings: TemplateStringsArray, ...values: any[]) => any;
};
export default htm;
