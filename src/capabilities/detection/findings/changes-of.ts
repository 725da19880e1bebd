import type { FindingChanges } from './finding.ts'

/** What looks at a task changed one after the other, as one; what one of them changed is changed. */
export function changesOf(looks: readonly FindingChanges[]): FindingChanges {
  const all = (change: keyof FindingChanges) => new Set(looks.flatMap((one) => one[change]))
  const opened = all('opened')
  const withdrawn = all('withdrawn')
  const recovered = without(all('recovered'), opened)
  const updated = without(all('updated'), opened.union(recovered))
  const changed = opened.union(withdrawn).union(recovered).union(updated)
  return {
    opened: [...opened],
    updated: [...updated],
    recovered: [...recovered],
    withdrawn: [...withdrawn],
    unchanged: [...without(all('unchanged'), changed)],
  }
}

function without(ids: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...ids].filter((id) => !others.has(id)))
}
