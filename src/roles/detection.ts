import {
  type ContextJudge,
  type OnFindings,
  openJudge as openContextJudge,
  startDetection,
} from '../capabilities/detection/index.ts'
import { openValueCalibration } from '../capabilities/verification/index.ts'
import type { Settings } from '../platform/config/index.ts'
import { openChatModel } from '../platform/models/index.ts'
import type { Wakes } from '../platform/relational/index.ts'
import { openReceivers } from './outbound.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Starts detection, until the role ends. */
export function openDetection(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics' | 'parts'>,
  config: Settings<'worker'>,
  {
    db,
    store,
    judge,
    onFindings,
    wakes,
  }: Pick<Stores, 'db' | 'store'> & {
    judge: ContextJudge | undefined
    onFindings: OnFindings
    wakes?: Wakes
  },
): void {
  const settings = { busy_share: config.detection_busy_percent / 100 }
  const calibrate = openValueCalibration(db, context.clock)
  const ports = { ...context, db, store, judge, onFindings, calibrate, wakes, settings }
  const detection = startDetection(ports)
  context.parts.defer(() => detection.stop())
}

/** Opens the judge of lost context, or returns undefined when no model has `use: lost_context`. */
export function openJudge(
  context: Pick<RoleContext, 'logger' | 'metrics'>,
  config: Settings<'verification' | 'notification'>,
  { db }: Pick<Stores, 'db'>,
): ContextJudge | undefined {
  const [settings] = config.verification_models.flatMap((one) =>
    one.type === 'openai' && one.use.includes('lost_context') ? one : [],
  )
  const judge = settings && {
    model: openChatModel(settings, openReceivers(config)),
    nano_dollars_per_day_max: BigInt(config.judge_budget_cents_per_day) * nanoDollarsPerCent,
  }
  return openContextJudge({ ...context, db }, judge)
}

const nanoDollarsPerCent = 10_000_000n
