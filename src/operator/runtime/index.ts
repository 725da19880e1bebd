export { apiAnswerCounter, createOperatorMetrics } from './operator-metrics.ts'
export {
  defaultOperatorSettings,
  type InstallationResource,
  type OperatorSettings,
} from './operator-settings.ts'
export { startOperator } from './start-operator.ts'
