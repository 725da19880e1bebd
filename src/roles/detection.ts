import { type ContextJudge, startDetection } from '../capabilities/detection/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

type DetectionConfig = Pick<
  RoleConfig<'worker'>,
  'detection_busy_percent' | 'detection_cache_bytes_max'
>

/** Looks for trouble in tasks as their calls come, until the role ends. */
export function openDetection(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics' | 'parts'>,
  config: DetectionConfig,
  { db, store, judge }: Pick<Stores, 'db' | 'store'> & { judge: ContextJudge | undefined },
): void {
  const settings = {
    busy_share: config.detection_busy_percent / 100,
    bytes_max: config.detection_cache_bytes_max,
  }
  const detection = startDetection({ ...context, db, store, judge, settings })
  context.parts.defer(() => detection.stop())
}
