import { useMemo, useRef, useState } from 'react'
import { useKeys } from '../../browser/keys.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { formatCount } from '../../ui/format.ts'
import { Button } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { NodeDetails } from './node-details.tsx'
import {
  hasChildren,
  nextNode,
  type Period,
  periodOf,
  type Tree,
  unfoldTo,
  visibleNodes,
  zoomed,
} from './outline.ts'
import css from './outline-view.module.css'
import { type Source, useTree } from './read-outline.ts'
import type { Mode } from './shown-rows.ts'
import { TreeRows } from './tree-rows.tsx'

/**
 * All nodes of a trace or task, up to 100,000. The selected node is `node` of the URL, folded ones
 * are `folded`.
 */
export function OutlineView({ source, mode }: { source: Source; mode: Mode }) {
  const query = useTree(source)
  return (
    <Loaded query={query} what="Reading the tree">
      {(tree) =>
        tree.size === 0 ? (
          <Empty title="No steps are stored" />
        ) : (
          <LoadedTree key={`${source.kind}:${source.id}`} tree={tree} mode={mode} />
        )
      }
    </Loaded>
  )
}

/** Folded nodes that a URL holds at most, so that links stay short. */
const maxFoldsInUrl = 40

function LoadedTree({ tree, mode }: { tree: Tree; mode: Mode }) {
  const { outline } = tree
  const [search, change] = useUrlState()
  const indexes = useMemo(() => new Map(outline.ids.map((id, at) => [id, at])), [outline])
  const [folded, setFolded] = useState<ReadonlySet<number>>(
    () => new Set((search['folded'] ?? '').split(',').flatMap((id) => indexes.get(id) ?? [])),
  )
  const shown = useMemo(() => visibleNodes(tree, folded), [tree, folded])
  const whole = useMemo(() => periodOf(tree, shown), [tree, shown])
  const [zoom, setZoom] = useState<Period>()
  const selected = indexes.get(search['node'] ?? '')
  const fold = (next: ReadonlySet<number>) => {
    setFolded(next)
    const ids = next.size <= maxFoldsInUrl ? [...next].flatMap((at) => outline.ids[at] ?? []) : []
    change({ folded: ids.length === 0 ? undefined : ids.join(',') })
  }
  const select = (node: number | undefined) => {
    if (node === undefined) return
    if (!shown.includes(node)) fold(unfoldTo(tree, node, folded))
    change({ node: outline.ids[node] })
  }
  const toggle = (node: number) => {
    const next = new Set(folded)
    if (!next.delete(node)) next.add(node)
    fold(next)
  }
  useTreeKeys({ tree, shown, selected, folded, select, fold })
  useKeys({
    '+': () => setZoom(zoomed(zoom ?? whole, 0.5, whole)),
    '-': () => setZoom(zoomed(zoom ?? whole, 2, whole)),
    '0': () => setZoom(undefined),
  })
  const foldAll = () => {
    const all = new Set<number>()
    for (let at = 0; at < tree.size; at += 1) if (hasChildren(tree, at)) all.add(at)
    fold(all)
  }
  return (
    <div className={css.view}>
      <Notes tree={tree} />
      <div className={ui.row}>
        <Button small onClick={foldAll}>
          Fold all
        </Button>
        <Button small onClick={() => fold(new Set())}>
          Unfold all
        </Button>
        {mode === 'waterfall' && (
          <Button small disabled={zoom === undefined} onClick={() => setZoom(undefined)}>
            Whole time
          </Button>
        )}
        <span className={ui.soft}>
          {formatCount(outline.total)} steps · {formatCount(outline.summary.traces)} traces
        </span>
      </div>
      <div className={css.split}>
        <TreeRows
          {...{ tree, shown, folded, mode, selected }}
          period={zoom ?? whole}
          onSelect={select}
          onToggle={toggle}
        />
        {selected !== undefined && (
          <NodeDetails tree={tree} node={selected} onClose={() => change({ node: undefined })} />
        )}
      </div>
    </div>
  )
}

function Notes({ tree: { outline } }: { tree: Tree }) {
  if (!outline.truncated) return null
  return (
    <p className={ui.notice} role="note">
      The first {formatCount(outline.ids.length)} of {formatCount(outline.total)} steps are shown.
      Read later ones with `from` in the explorer of the API.
    </p>
  )
}

type Moves = {
  tree: Tree
  shown: Int32Array
  selected: number | undefined
  folded: ReadonlySet<number>
  select: (node: number | undefined) => void
  fold: (folded: ReadonlySet<number>) => void
}

/** The keys of a tree: rows, folds, the next error, finding and step of the critical path. */
function useTreeKeys({ tree, shown, selected, folded, select, fold }: Moves): void {
  const { outline } = tree
  const failed = outline.statuses.indexOf('error')
  const row = useRef(-1)
  row.current = selected === undefined ? -1 : shown.indexOf(selected)
  const next = (matches: (node: number) => boolean) =>
    select(nextNode(tree.size, selected ?? -1, matches))
  const left = () => {
    if (selected === undefined) return
    if (hasChildren(tree, selected) && !folded.has(selected)) fold(new Set([...folded, selected]))
    else if ((outline.parent[selected] ?? -1) >= 0) select(outline.parent[selected])
  }
  const right = () => {
    if (selected === undefined || !hasChildren(tree, selected)) return
    if (!folded.has(selected)) return select(selected + 1)
    const open = new Set(folded)
    open.delete(selected)
    fold(open)
  }
  const down = () => select(shown[Math.min(row.current + 1, shown.length - 1)])
  const up = () => select(shown[Math.max(row.current - 1, 0)])
  useKeys({
    j: down,
    k: up,
    arrowdown: down,
    arrowup: up,
    h: left,
    l: right,
    arrowleft: left,
    arrowright: right,
    e: () => next((at) => outline.status[at] === failed && failed >= 0),
    n: () => next((at) => tree.findings.has(at)),
    p: () => next((at) => outline.on_path[at] === 1),
  })
}
