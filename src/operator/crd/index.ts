export { type Crd, category, columnsOf, crdOf, resourceSchemaOf } from './crd-of.ts'
export { crdYaml } from './crd-yaml.ts'
export { immutableRule } from './immutable-fields.ts'
export {
  SchemaNotStructural,
  type StructuralSchema,
  type ValidationRule,
} from './structural-schema.ts'
