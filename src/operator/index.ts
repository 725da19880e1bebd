export { commonSpecFields } from './common-spec.ts'
export {
  apiGroup,
  apiVersion,
  type Kind,
  type PrinterColumn,
} from './contract.ts'
export { columnsOf, crdOf, crdYaml, resourceSchemaOf } from './crd/crd.ts'
export type { StructuralSchema, ValidationRule } from './crd/structural-schema.ts'
export { incidentRuleSpec, toRule } from './kinds/incident-rule/spec.ts'
export { kinds } from './kinds/index.ts'
export { projectGrantSpec } from './kinds/project-grant/spec.ts'
export { commonReasons, progressOf } from './ready-condition.ts'
export {
  apiAnswerCounter,
  createOperatorMetrics,
  defaultOperatorSettings,
  type InstallationResource,
  leaseTimes,
  type OperatorSettings,
  startOperator,
} from './runtime/index.ts'
export { createServiceClient } from './service/service-client.ts'
export { findSelectorFault, labelSelector } from './tenancy/label-selector.ts'
