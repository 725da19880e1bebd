export { type Crd, columnsOf, crdOf, resourceSchemaOf } from './crd-of.ts'
export { crdYaml } from './crd-yaml.ts'
export type { StructuralSchema, ValidationRule } from './structural-schema.ts'
