import type { Certification, CertificationDb } from '../evidence/contract.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'

/** Reads the stored evidence of a certification. */
export async function readEvidence(
  db: CertificationDb,
  { project_id, id }: Pick<Certification, 'project_id' | 'id'>,
): Promise<{ release: EvidenceItem[]; baseline: EvidenceItem[] }> {
  const read: { release: EvidenceItem[]; baseline: EvidenceItem[] } = { release: [], baseline: [] }
  const pages = await db
    .selectFrom('certification_evidence')
    .select(['side', 'source', 'page'])
    .where('project_id', '=', project_id)
    .where('certification_id', '=', id)
    .orderBy('side')
    .orderBy('source')
    .orderBy('page')
    .execute()
  for (const { side, source, page } of pages) {
    const { items } = await db
      .selectFrom('certification_evidence')
      .select('items')
      .where('project_id', '=', project_id)
      .where('certification_id', '=', id)
      .where('side', '=', side)
      .where('source', '=', source)
      .where('page', '=', page)
      .executeTakeFirstOrThrow()
    for (const item of items) read[side].push(item as EvidenceItem)
  }
  return read
}
