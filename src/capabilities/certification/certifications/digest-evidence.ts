import { hash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'
import type { Evidence } from './write.ts'

/**
 * Returns the digest of evidence without its ids, in hexadecimal: equal for items with equal values
 * in equal clusters. It has no salt and no ids, so that looks can be compared after an erasure too.
 */
export function digestEvidence(evidence: readonly Evidence[]): string {
  const parts = evidence
    .map(({ side, source, items }) => `${side} ${source} ${digestItems(items)}`)
    .toSorted()
  return hash('sha256', canonicalJson(parts))
}

function digestItems(items: readonly EvidenceItem[]): string {
  const clusters = [...Map.groupBy(items, ({ cluster }) => cluster).values()].map((own) => {
    const texts = own.map(({ group, case_id, values }) => canonicalJson({ group, case_id, values }))
    return hash('sha256', canonicalJson(texts.toSorted()))
  })
  return hash('sha256', canonicalJson(clusters.toSorted()))
}
