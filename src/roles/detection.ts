import { type ContextJudge, startDetection } from '../capabilities/detection/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Looks for trouble in tasks as their calls come, until the role ends. */
export function openDetection(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics' | 'parts'>,
  { db, store, judge }: Pick<Stores, 'db' | 'store'> & { judge: ContextJudge | undefined },
): void {
  const detection = startDetection({ ...context, db, store, judge })
  context.parts.defer(() => detection.stop())
}
