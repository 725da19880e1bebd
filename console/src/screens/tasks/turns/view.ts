import { createContext, useContext } from 'react'
import type { Finding, Turn, TurnThread } from '../../../api/schema.gen.d.ts'
import type { Folds } from './use-folds.ts'

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

const context = createContext<TurnView | undefined>(undefined)
export const TurnViewProvider = context.Provider

/** Returns the view of the tab around a part of the turns. */
export function useTurnView(): TurnView {
  const view = useContext(context)
  if (view === undefined) throw new Error('This part is used outside of the turns')
  return view
}
