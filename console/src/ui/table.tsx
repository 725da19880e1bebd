import {
  memo,
  type ReactNode,
  type RefCallback,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react'
import { useKeys } from '../browser/keys.ts'
import { Button, classes } from './parts.tsx'
import css from './table.module.css'
import ui from './ui.module.css'
import { useWindowRows } from './use-window-rows.ts'

/** A column of a table. */
export type Column<T> = {
  /** Name for sorting and React; the head is what people read. */
  id: string
  head: ReactNode
  cell: (row: T) => ReactNode
  /** Numbers are aligned to the right. */
  number?: boolean
  /** Left out on narrow screens. */
  wide?: boolean
  /** The list can be sorted by `id`. */
  sortable?: boolean
}

export type Sorting = { by: string; order: 'asc' | 'desc' }

type TableProps<T> = {
  /** The name of the table for screen readers: "Tasks". */
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** Opens a row: Enter, or a click beside links. */
  onOpen?: (row: T) => void
  /** The row that is shown beside the list; space opens and closes it, and it follows `j` and `k`. */
  peek?: { at: string | undefined; show: (row: T | undefined) => void }
  sorting?: Sorting
  onSort?: (sorting: Sorting) => void
  /** Called with the row that `j`, `k` or a click selected. */
  onSelect?: (row: T | undefined) => void
  /** Shown in place of rows. */
  empty?: ReactNode
}

/**
 * A table of any length: of a long one, only rows near the window are in the page. `j` and `k` move
 * the selection, Enter opens it.
 */
export function Table<T>({ label, columns, rows, keyOf, empty, ...rest }: TableProps<T>) {
  const { onOpen, peek, sorting, onSort } = rest
  const body = useRef<HTMLTableSectionElement>(null)
  const [selected, setSelected] = useState(peek?.at)
  const { indexes, above, below, measure, scrollTo } = useWindowRows(body, rows, keyOf)
  const at = selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected)
  const move = (step: number) => {
    const row = rows[Math.min(Math.max(at + step, 0), rows.length - 1)]
    if (row === undefined) return
    setSelected(keyOf(row))
    if (peek?.at !== undefined) peek.show(row)
    scrollTo(rows.indexOf(row))
  }
  const togglePeek = (row: T | undefined) => {
    const isShown = row !== undefined && peek?.at === keyOf(row)
    if (row !== undefined) setSelected(keyOf(row))
    peek?.show(isShown ? undefined : row)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    enter: () => {
      const row = rows[at]
      if (row !== undefined) onOpen?.(row)
    },
    ...(peek && { space: () => togglePeek(rows[Math.max(at, 0)]) }),
  })
  useEffect(() => {
    if (selected === undefined) return
    body.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  const press = useRef<RowProps<T>['onPress']>(() => undefined)
  press.current = (row, target) => {
    setSelected(keyOf(row))
    if (!isControl(target)) onOpen?.(row)
  }
  const onPress = useCallback<RowProps<T>['onPress']>((...of) => press.current(...of), [])
  const onSelect = useRef(rest.onSelect)
  onSelect.current = rest.onSelect
  useEffect(() => onSelect.current?.(rows[at]), [rows, at])
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>
  return (
    <Scroller>
      <table className={css.table} aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Spacer height={above} />
          {indexes.map((index) => {
            const row = rows[index]
            if (row === undefined) return null
            const key = keyOf(row)
            return (
              <Row
                key={key}
                {...{ row, index, columns, measure, onPress }}
                isSelected={key === selected}
                opens={onOpen !== undefined}
              />
            )
          })}
          <Spacer height={below} />
        </tbody>
      </table>
    </Scroller>
  )
}

type RowProps<T> = {
  row: T
  index: number
  columns: readonly Column<T>[]
  /** Measures the height of the row, in a long table. */
  measure: RefCallback<Element> | undefined
  isSelected: boolean
  opens: boolean
  onPress: (row: T, target: EventTarget) => void
}

function TableRow<T>({ row, index, columns, measure, isSelected, opens, onPress }: RowProps<T>) {
  return (
    <tr
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={opens ? css.link : undefined}
      onClick={(event) => onPress(row, event.target)}
    >
      {columns.map(({ id, cell, number, wide }) => (
        <td key={id} className={classes(number && ui.number, wide && css.wide)}>
          {cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** A row that is rendered again only if it changes: not while the table scrolls. */
const Row = memo(TableRow) as typeof TableRow

/** The box in which a wide table scrolls. It takes the focus then, so that arrow keys scroll it. */
function Scroller({ children }: { children: ReactNode }) {
  const own = useRef<HTMLDivElement>(null)
  const isWide = useOverflow(own)
  return (
    <div ref={own} className={css.scroller} tabIndex={isWide ? 0 : -1}>
      {children}
    </div>
  )
}

function Spacer({ height }: { height: number }) {
  return height > 0 ? <tr style={{ height }} /> : null
}

/** Returns whether a click has its own meaning, or ends a selection of text. */
function isControl(target: EventTarget): boolean {
  if (String(window.getSelection() ?? '') !== '') return true
  return target instanceof Element && target.closest('a, button, input, select, label') !== null
}

function Head<T>({
  column,
  sorting,
  onSort,
}: {
  column: Column<T>
  sorting: Sorting | undefined
  onSort: ((sorting: Sorting) => void) | undefined
}) {
  const { id, head, number, wide, sortable } = column
  const order = sorting?.by === id ? sorting.order : undefined
  const name = classes(number && ui.number, wide && css.wide)
  if (sortable !== true || onSort === undefined) {
    return (
      <th scope="col" className={name}>
        {head}
      </th>
    )
  }
  const next = order === 'desc' ? 'asc' : 'desc'
  return (
    <th
      scope="col"
      className={name}
      aria-sort={order === undefined ? 'none' : order === 'asc' ? 'ascending' : 'descending'}
    >
      <button type="button" className={css.sort} onClick={() => onSort({ by: id, order: next })}>
        {head} <span aria-hidden="true">{order === 'asc' ? '↑' : order === 'desc' ? '↓' : ''}</span>
      </button>
    </th>
  )
}

/**
 * The end of a list that has more rows: reads on when it comes near the window, and by its button.
 */
export function MoreRows({
  hasMore,
  isLoading,
  loadMore,
}: {
  hasMore: boolean
  isLoading: boolean
  loadMore: () => void
}) {
  const end = useRef<HTMLDivElement>(null)
  const load = useRef(loadMore)
  load.current = loadMore
  useEffect(() => {
    if (!hasMore || isLoading || end.current === null) return undefined
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) load.current()
      },
      { rootMargin: '400px' },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [hasMore, isLoading])
  if (!hasMore) return null
  return (
    <div ref={end} className={css.more}>
      <Button onClick={loadMore} disabled={isLoading}>
        {isLoading ? 'Loading…' : 'Load more'}
      </Button>
    </div>
  )
}

/** Returns whether the content of an element is wider than the element, so that it scrolls. */
function useOverflow(of: RefObject<HTMLElement | null>): boolean {
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const element = of.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth))
    for (const each of [element, ...element.children]) observer.observe(each)
    return () => observer.disconnect()
  }, [of])
  return isWide
}
