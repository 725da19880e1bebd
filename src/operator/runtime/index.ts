export { apiAnswerCounter, createOperatorMetrics } from './operator-metrics.ts'
export {
  defaultOperatorSettings,
  type InstallationResource,
  leaseTimes,
  type OperatorSettings,
} from './operator-settings.ts'
export { startOperator } from './start-operator.ts'
