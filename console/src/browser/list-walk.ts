const storedAs = 'looptrace.list.'
const ids_max = 1_000

/** The list from which a screen was opened: its ids in order, and its address. */
type Walk = { ids: readonly string[]; href: string }

/** Notes the rows of a list in this tab, so that the screen of one of them can go to the next. */
export function rememberList(name: string, walk: Walk): void {
  const { ids, href } = walk
  const text = JSON.stringify({ ids: ids.slice(0, ids_max), href })
  try {
    sessionStorage.setItem(storedAs + name, text)
  } catch {
    // The storage is full: only `[` and `]` are lost.
  }
}

/** Returns the neighbours of an id in the list that was noted last, and its address. */
export function neighbours(
  name: string,
  id: string,
):
  | { previous: string | undefined; next: string | undefined; at: string; href: string }
  | undefined {
  const text = sessionStorage.getItem(storedAs + name)
  if (text === null) return undefined
  const { ids, href } = JSON.parse(text) as Walk
  const at = ids.indexOf(id)
  if (at < 0) return undefined
  return { previous: ids[at - 1], next: ids[at + 1], at: `${at + 1} of ${ids.length}`, href }
}
