// `zod`: a builder of schemas with the names and habits of that library, written for this program.
//
// A schema says what a model may send (`[Symbol.for('entourage.schema')]()` gives its JSON Schema) and takes apart what
// it did send (`parse` and its kin). `import { z }`, `import * as z` and `import z` give the same.
import * as z from 'entourage:zod/all';

export * from 'entourage:zod/all';
export { z };
export default z;
