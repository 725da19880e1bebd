import { useMemo } from 'react'
import type { Finding, TaskTurnList, Turn, TurnThread } from '../../../api/schema.gen.d.ts'
import { useKeys } from '../../../browser/keys.ts'
import { useUrlState } from '../../../browser/use-search.ts'
import { formatNumberOf, formatUsd } from '../../../ui/format.ts'
import { Badge, Button } from '../../../ui/parts.tsx'
import { Empty, Loaded } from '../../../ui/states.tsx'
import { MoreRows } from '../../../ui/table.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { AttemptsDiff } from './attempts-diff.tsx'
import { filterTurns } from './filter-turns.ts'
import { Fold } from './fold.tsx'
import { groupTurns, type Loop, type TurnItem, turnsIn } from './group-turns.ts'
import { isTalk } from './messages.tsx'
import { TurnRow } from './turn-row.tsx'
import css from './turns.module.css'
import { hasFailed, nextOf, pointAt, useTarget } from './use-target.ts'
import { mergeThreads, useTurnPages } from './use-turn-pages.ts'
import { TurnViewProvider, useFolds, useTurnView } from './view.ts'

/** The turns of a task: per call only what is new. Loops are folded, sub-agents are nested. */
export function TurnsTab({ task_id, findings }: { task_id: string; findings: readonly Finding[] }) {
  const pages = useTurnPages(task_id)
  return (
    <Loaded query={pages} what="Reading turns">
      {() => (
        <>
          <Turns replies={pages.rows} findings={findings} pages={pages} />
          <MoreRows
            hasMore={pages.hasMore}
            isLoading={pages.isLoadingMore}
            loadMore={pages.loadMore}
          />
        </>
      )}
    </Loaded>
  )
}

type TurnsProps = {
  replies: readonly TaskTurnList[]
  findings: readonly Finding[]
  pages: Parameters<typeof useTarget>[1]
}

function Turns({ replies, findings, pages }: TurnsProps) {
  const [search, change] = useUrlState()
  const turns = useMemo(() => replies.flatMap((reply) => reply.turns), [replies])
  const threads = useMemo(() => mergeThreads(replies), [replies])
  const byId = useMemo(() => new Map(findings.map((one) => [one.finding_id, one])), [findings])
  const folds = useFolds()
  const target = useTarget(turns, pages)
  const isTalkOnly = search['talk'] === '1'
  const filter = { agent: search['agent'], tool: search['tool'], model: search['model'] }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const items = useMemo(() => {
    const { agent, tool, model } = search
    const some = filterTurns(turns, threads, { agent, tool, model })
    const shown = isTalkOnly ? some.filter((turn) => hasTalk(turn, threads)) : some
    const isFlat = isTalkOnly || some.length < turns.length
    return isFlat
      ? shown.map((turn) => ({ kind: 'turn' as const, turn }))
      : groupTurns(shown, threads)
  }, [turns, threads, search, isTalkOnly])
  const select = (turn: Turn) => change(pointAt(turn))
  useTurnKeys(turnsIn(items), target, select)
  const total = replies[0]?.total ?? 0
  if (total === 0) return <NoTurns />
  return (
    <TurnViewProvider value={{ turns, threads, findings: byId, folds, target, isTalkOnly, select }}>
      <h2 className={ui.visuallyHidden}>Turns</h2>
      <div className={css.bar}>
        <label className={ui.row}>
          <input
            type="checkbox"
            checked={isTalkOnly}
            onChange={() => change({ talk: isTalkOnly ? undefined : '1' })}
          />
          Conversation only
        </label>
        <Button small onClick={() => folds.openAll(!folds.isAllOpen)}>
          {folds.isAllOpen ? 'Fold all' : 'Expand all'}
        </Button>
        {isFiltered && <Filters of={filter} shown={items.length} total={total} />}
        <span className={ui.grow} />
        <span className={ui.soft}>
          <kbd>j</kbd> <kbd>k</kbd> steps · <kbd>e</kbd> error · <kbd>n</kbd> finding
        </span>
      </div>
      {replies.at(-1)?.left_out.map((sentence) => (
        <p key={sentence} className={ui.soft}>
          {sentence}
        </p>
      ))}
      {target === undefined && !pages.hasMore && <NotFound />}
      <Items of={items} />
    </TurnViewProvider>
  )
}

/** Returns whether a person or the agent said something to the other in the turn. */
function hasTalk({ messages, answer, thread }: Turn, threads: readonly TurnThread[]): boolean {
  if (threads.find((each) => each.thread === thread)?.kind === 'sub_agent') return false
  return messages.some(isTalk) || (answer?.text?.text ?? '') !== ''
}

function useTurnKeys(
  shown: readonly Turn[],
  target: Turn | undefined,
  select: (turn: Turn) => void,
): void {
  const at = shown.findIndex(({ turn }) => turn === target?.turn)
  const go = (turn: Turn | undefined) => turn !== undefined && select(turn)
  useKeys({
    j: () => go(shown[Math.min(at + 1, shown.length - 1)]),
    k: () => go(shown[Math.max(at - 1, 0)]),
    e: () => go(nextOf(shown, target, hasFailed)),
    n: () => go(nextOf(shown, target, ({ findings }) => findings.length > 0)),
  })
}

function Filters({
  of,
  shown,
  total,
}: {
  of: Record<string, string | undefined>
  shown: number
  total: number
}) {
  const [, change] = useUrlState()
  const given = Object.entries(of).filter(([, value]) => value !== undefined)
  return (
    <>
      {given.map(([name, value]) => (
        <Button key={name} small onClick={() => change({ [name]: undefined })}>
          {name}: <Plain>{value ?? ''}</Plain> <span aria-hidden="true">×</span>
          <span className={ui.visuallyHidden}>Remove</span>
        </Button>
      ))}
      <span className={ui.soft}>
        {shown} of {total} calls
      </span>
    </>
  )
}

/** Says that the turn of a link does not exist, such as after an erasure. */
function NotFound() {
  const [{ step, turn, finding }] = useUrlState()
  if (step === undefined && turn === undefined && finding === undefined) return null
  const what = finding === undefined ? 'The step' : 'The finding'
  return <p role="status">{what} of this link is not at any turn of this task.</p>
}

function NoTurns() {
  return (
    <Empty title="No model call yet">
      <p>
        The turns of a task are its model calls. A task that only ran tools has none: see its steps.
      </p>
    </Empty>
  )
}

/** Turns in their order, with loops as one row and sub-agents as cards. */
function Items({ of: items, loop }: { of: readonly TurnItem[]; loop?: string }) {
  return (
    <div className={css.items}>
      {items.map((item) => {
        if (item.kind === 'turn') {
          return <TurnRow key={item.turn.turn} turn={item.turn} loop={loop} />
        }
        if (item.kind === 'loop') {
          const first = turnsIn(item.loop.iterations[0]?.items ?? [])[0]
          return <LoopRow key={`loop ${first?.turn}`} loop={item.loop} first={first} />
        }
        const { thread } = item.thread
        return <ThreadCard key={`thread ${thread}`} thread={item.thread} items={item.items} />
      })}
    </div>
  )
}

function LoopRow({ loop, first }: { loop: Loop; first: Turn | undefined }) {
  const { findings, target } = useTurnView()
  const turns = loop.iterations.flatMap(({ items }) => turnsIn(items))
  const isForced = turns.some(({ turn }) => turn === target?.turn)
  const finding = findings.get(loop.finding_id)
  const last = turns.at(-1)
  const title = (
    <>
      <Badge tone="bad">×{loop.of}</Badge>
      <strong>
        <Plain>{first?.tool_uses[0]?.title ?? 'the same answer'}</Plain>
      </strong>
      <span className={ui.soft}>
        steps {(first?.step ?? 0) + 1}–{(last?.step ?? 0) + 1}
        {finding && Number(finding.wasted_cost_usd) > 0
          ? ` · ${formatUsd(finding.wasted_cost_usd)} wasted`
          : ''}
        {finding && (finding.recovered ? ' · recovered' : ' · not recovered')}
      </span>
    </>
  )
  return (
    <Fold name={`l${first?.turn}`} title={title} isForced={isForced} className={css.loop}>
      {() => (
        <>
          {finding && (
            <p>
              <Plain>{finding.summary}</Plain>
            </p>
          )}
          <AttemptsDiff loop={loop} />
          {loop.iterations.map(({ number, items }) => (
            <div key={number} className={css.iteration}>
              <p className={css.iterationTitle}>
                Iteration {number} of {loop.of}
              </p>
              <Items of={items} loop={loop.finding_id} />
            </div>
          ))}
        </>
      )}
    </Fold>
  )
}

function ThreadCard({ thread, items }: { thread: TurnThread; items: readonly TurnItem[] }) {
  const { target } = useTurnView()
  const turns = turnsIn(items)
  const isForced = turns.some(({ turn }) => turn === target?.turn)
  const cost = turns.reduce((sum, { cost_usd }) => sum + Number(cost_usd ?? 0), 0)
  const title = (
    <>
      <Badge tone="info">{thread.kind === 'branch' ? 'branch' : 'sub-agent'}</Badge>
      <strong>
        <Plain>{thread.agent_name || `Thread ${thread.thread + 1}`}</Plain>
      </strong>
      <span className={ui.soft}>
        {formatNumberOf(thread.turns, 'call')}
        {cost > 0 && ` · ${formatUsd(String(cost))}`}
        {thread.held && ' · a part of the history is held by the provider'}
      </span>
    </>
  )
  return (
    <Fold
      name={`a${thread.thread}`}
      title={title}
      byDefault
      isForced={isForced}
      className={css.card}
    >
      {() => <Items of={items} />}
    </Fold>
  )
}
