import {
  type ContextJudge,
  type JudgeSettings,
  type OnFindings,
  openJudge as openContextJudge,
  startDetection,
} from '../capabilities/detection/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

type DetectionConfig = Pick<RoleConfig<'worker'>, 'detection_busy_percent'>

/** Starts detection, until the role ends. */
export function openDetection(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics' | 'parts'>,
  config: DetectionConfig,
  {
    db,
    store,
    judge,
    onFindings,
  }: Pick<Stores, 'db' | 'store'> & {
    judge: ContextJudge | undefined
    onFindings: OnFindings
  },
): void {
  const settings = { busy_share: config.detection_busy_percent / 100 }
  const detection = startDetection({ ...context, db, store, judge, onFindings, settings })
  context.parts.defer(() => detection.stop())
}

type JudgeConfig = Pick<
  RoleConfig<'worker'>,
  | 'judge_url'
  | 'judge_model'
  | 'judge_api_key'
  | 'judge_allowed_hosts'
  | 'judge_timeout_ms'
  | 'judge_cents_per_million_tokens'
  | 'judge_cents_per_day_max'
>

/** Opens the judge of lost context, or returns undefined when none is configured. */
export function openJudge(
  context: Pick<RoleContext, 'logger' | 'metrics'>,
  config: JudgeConfig,
  { db }: Pick<Stores, 'db'>,
): ContextJudge | undefined {
  return openContextJudge({ ...context, db }, toJudgeSettings(config))
}

const nanoDollarsPerCent = 10_000_000n
const million = 1_000_000n

function toJudgeSettings(config: JudgeConfig): JudgeSettings | undefined {
  const { judge_url: url, judge_model: model, judge_timeout_ms: timeout_ms } = config
  if (url === undefined) return undefined
  if (model === undefined) {
    throw new ConfigError('LOOPTRACE_JUDGE_MODEL: missing, expected the name of a model')
  }
  const per_million = BigInt(config.judge_cents_per_million_tokens) * nanoDollarsPerCent
  const hosts = config.judge_allowed_hosts?.split(',') ?? []
  return {
    ...{ url, model, timeout_ms },
    api_key: config.judge_api_key,
    allowed_hosts: hosts.map((host) => host.trim().toLowerCase()),
    nano_dollars_per_token: per_million / million,
    nano_dollars_per_day_max: BigInt(config.judge_cents_per_day_max) * nanoDollarsPerCent,
  }
}
