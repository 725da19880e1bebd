import { useEffect } from 'react'
import type { Turn } from '../../../api/schema.gen.d.ts'
import type { Search } from '../../../browser/search.ts'
import { shownNumber } from '../../../browser/shown-number.ts'
import { useUrlState } from '../../../browser/use-search.ts'

/** Names of the URL that point at a turn: the number of its step or of itself as pages show it, or a finding. */
const names = ['step', 'turn', 'finding'] as const

/** Returns the part of a URL that points at a turn, and clears the other ways. */
export function pointAt(target: { step?: number | null; turn?: number; finding?: string }): Search {
  const { step, turn, finding } = target
  if (step !== undefined && step !== null) return { ...none, step: shownNumber(step) }
  if (turn !== undefined) return { ...none, turn: shownNumber(turn) }
  return { ...none, finding }
}

/** Returns the part of a URL that opens the turns at a target, without earlier filters. */
export function jumpTo(target: Parameters<typeof pointAt>[0]): Search {
  return { ...everything, ...pointAt(target) }
}

/** Choices that could hide a turn. */
const everything = {
  tab: undefined,
  talk: undefined,
  agent: undefined,
  tool: undefined,
  model: undefined,
}

const none = { step: undefined, turn: undefined, finding: undefined }

/** Returns the turn that the URL points at; undefined if it is not among these. */
export function findTarget(turns: readonly Turn[], search: Search): Turn | undefined {
  const { step, turn, finding } = search
  if (step !== undefined) return turns.find((each) => isShownAs(each.step, step))
  if (turn !== undefined) return turns.find((each) => isShownAs(each.turn, turn))
  return finding === undefined
    ? undefined
    : turns.find(({ findings }) => findings.includes(finding))
}

function isShownAs(at: number | null, text: string): boolean {
  return at !== null && shownNumber(at) === text
}

/** Returns the id of the element of a turn. */
export const elementOf = (turn: number) => `turn-${turn}`

/**
 * Follows the URL to a turn: reads pages until it is there, opens what it is folded into, and
 * scrolls to it.
 */
export function useTarget(
  turns: readonly Turn[],
  { hasMore, isLoadingMore, loadMore }: PageReader,
): Turn | undefined {
  const [search] = useUrlState()
  const target = findTarget(turns, search)
  const isWanted = names.some((name) => search[name] !== undefined)
  useEffect(() => {
    if (isWanted && target === undefined && hasMore && !isLoadingMore) loadMore()
  }, [isWanted, target, hasMore, isLoadingMore, loadMore])
  const at = target?.turn
  useEffect(() => {
    if (at === undefined) return
    const element = document.getElementById(elementOf(at))
    element?.scrollIntoView({ block: 'center' })
    element?.focus({ preventScroll: true })
  }, [at])
  return target
}

type PageReader = { hasMore: boolean; isLoadingMore: boolean; loadMore: () => void }

/** Returns whether a call or one of its tools failed. */
export function hasFailed({ status, error, tool_uses }: Turn): boolean {
  return status === 'error' || error !== null || tool_uses.some((use) => use.error !== null)
}

/** Returns the next turn after the current one that fits, around the end. */
export function nextOf(
  turns: readonly Turn[],
  current: Turn | undefined,
  fits: (turn: Turn) => boolean,
): Turn | undefined {
  const at = turns.findIndex(({ turn }) => turn === current?.turn)
  return [...turns.slice(at + 1), ...turns.slice(0, at + 1)].find(fits)
}
