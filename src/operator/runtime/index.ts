export { apiAnswerCounter, createOperatorMetrics } from './operator-metrics.ts'
export {
  defaultOperatorSettings,
  type InstallationGrant,
  type OperatorSettings,
} from './operator-settings.ts'
export { startOperator } from './start-operator.ts'
