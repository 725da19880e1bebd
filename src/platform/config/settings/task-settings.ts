import { integer } from '../setting.ts'
import { hours, minutes, seconds } from './units.ts'

/** Reading tasks. */
export const taskSettings = {
  task_stalled_after_ms: integer({
    unit: 'ms',
    default: 30 * minutes,
    min: seconds,
    max: 30 * 24 * hours,
    reason: 'A running task without activity for so long reads `stalled: true`.',
  }),
}
