// A provider of models, as the packages of Standard Agents export it: a function that a model definition names.
//
// The rule that makes it readable as data: a function with a property `[Symbol.for('entourage.value')]` is exported as
// the value of that property, so `provider: openai` reads as `"openai"`.

/** The factory of the provider with this name, as model references spell it. */
export function provider(name) {
  // Calling it is not how a definition names a provider. What comes out is kept readable, so that the fault is
  // reported at the definition's `provider` and nothing written there is lost in silence.
  const factory = (options) => (options === undefined ? factory : { provider: name, options });
  Object.defineProperty(factory, 'name', { value: name });
  Object.defineProperty(factory, Symbol.for('entourage.value'), { value: name });
  return factory;
}
