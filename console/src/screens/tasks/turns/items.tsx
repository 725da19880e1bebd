import type { Turn, TurnThread } from '../../../api/schema.gen.d.ts'
import { formatNumberOf, formatUsd } from '../../../ui/format.ts'
import { Badge } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { AttemptsDiff } from './attempts-diff.tsx'
import { Fold } from './fold.tsx'
import { type Loop, type TurnItem, turnsIn } from './group-turns.ts'
import { TurnRow } from './turn-row.tsx'
import css from './turns.module.css'
import { useTurnView } from './view.ts'

/** Turns in their order, with loops as one row and sub-agents as cards. */
export function Items({ of: items, loop }: { of: readonly TurnItem[]; loop?: string }) {
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
