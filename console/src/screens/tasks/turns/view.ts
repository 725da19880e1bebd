import { createContext, useContext } from 'react'
import type { Finding, Turn, TurnThread } from '../../../api/schema.gen.d.ts'
import { useUrlState } from '../../../browser/use-search.ts'

/** The state of the tab that the parts of the turns share. */
export type TurnView = {
  turns: readonly Turn[]
  threads: readonly TurnThread[]
  findings: ReadonlyMap<string, Finding>
  folds: Folds
  /** The turn that the URL points at. */
  target: Turn | undefined
  /** Only what people and the agent said to each other. */
  isTalkOnly: boolean
  select: (turn: Turn) => void
}

/** Folded parts of the turns. A part is named by a letter and a number, such as `u12`. */
type Folds = {
  isOpen: (name: string, byDefault?: boolean) => boolean
  toggle: (name: string) => void
  /** Whether everything is open, except what was folded since. */
  isAllOpen: boolean
  openAll: (isOpen: boolean) => void
}

/** Keeps the folds in the URL: `all=1`, and the parts that differ from their default in `open`. */
export function useFolds(): Folds {
  const [{ all, open = '' }, change] = useUrlState()
  const toggled = new Set(open.split(',').filter(Boolean))
  const isAllOpen = all === '1'
  return {
    isOpen: (name, byDefault = false) => (isAllOpen || byDefault) !== toggled.has(name),
    toggle: (name) => {
      if (!toggled.delete(name)) toggled.add(name)
      change({ open: [...toggled].join(',') })
    },
    isAllOpen,
    openAll: (isOpen) => change({ all: isOpen ? '1' : undefined, open: undefined }),
  }
}

const context = createContext<TurnView | undefined>(undefined)
export const TurnViewProvider = context.Provider

/** Returns the view of the tab around a part of the turns. */
export function useTurnView(): TurnView {
  const view = useContext(context)
  if (view === undefined) throw new Error('This part is used outside of the turns')
  return view
}
