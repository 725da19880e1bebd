import { startDetection } from '../capabilities/detection/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Looks for trouble in tasks as their calls come, until the role ends. */
export function openDetection(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics' | 'parts'>,
  { db, store }: Pick<Stores, 'db' | 'store'>,
): void {
  const detection = startDetection({ ...context, db, store })
  context.parts.defer(() => detection.stop())
}
