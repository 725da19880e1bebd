import type { RestoredScope } from '../language/check-query.ts'
import type { RestoredSlices } from './contract.ts'

/** The query with the slices that it is to see, if it asks for what was restored. */
export async function withSlices<Asked extends RestoredScope>(
  { restoredSlices }: { restoredSlices: RestoredSlices },
  asked: Asked,
  project_id: string,
): Promise<Asked> {
  return asked.include_restored ? { ...asked, slices: await restoredSlices(project_id) } : asked
}
