export { commonSpecFields } from './common-spec.ts'
export {
  apiGroup,
  apiVersion,
  type Kind,
  type PrinterColumn,
} from './contract.ts'
export { type Crd, columnsOf, crdOf, crdYaml, resourceSchemaOf } from './crd/crd.ts'
export type { StructuralSchema, ValidationRule } from './crd/structural-schema.ts'
export { kinds } from './kinds/index.ts'
export { commonReasons } from './ready-condition.ts'
export {
  apiAnswerCounter,
  createOperatorMetrics,
  defaultOperatorSettings,
  type OperatorSettings,
  startOperator,
} from './runtime/index.ts'
export type { AllowedProjects } from './service/project-ref.ts'
export { createServiceClient } from './service/service-client.ts'
