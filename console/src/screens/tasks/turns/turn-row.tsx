import type { Turn, TurnToolUse } from '../../../api/schema.gen.d.ts'
import { useUrlState } from '../../../app/use-search.ts'
import { formatCompact, formatDuration, formatUsd } from '../../../ui/format.ts'
import { Badge, Button, classes, Severity } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { Answer } from './answer.tsx'
import { beginning, Content } from './content.tsx'
import { Fold } from './fold.tsx'
import { Messages } from './messages.tsx'
import css from './turns.module.css'
import { elementOf, hasFailed } from './use-target.ts'
import { useTurnView } from './view.ts'

/**
 * One model call: what was new in it, its answer, its tools, and the findings at it. The finding of
 * the `loop` around it is already said.
 */
export function TurnRow({ turn, loop }: { turn: Turn; loop?: string | undefined }) {
  const { target, isTalkOnly, select } = useTurnView()
  const isTarget = target?.turn === turn.turn
  return (
    <section
      id={elementOf(turn.turn)}
      aria-labelledby={`${elementOf(turn.turn)}-title`}
      aria-current={isTarget ? 'step' : undefined}
      tabIndex={-1}
      className={classes(css.turn, hasFailed(turn) && css.failed, isTarget && css.target)}
    >
      <div className={css.head}>
        <h3 id={`${elementOf(turn.turn)}-title`}>
          <button type="button" className={css.number} onClick={() => select(turn)}>
            {turn.step === null ? `Call ${turn.turn + 1}` : `Step ${turn.step + 1}`}
          </button>
        </h3>
        {!isTalkOnly && <Facts turn={turn} />}
      </div>
      <Findings ids={turn.findings.filter((id) => id !== loop)} />
      <Failure of={turn} />
      <Messages turn={turn} />
      <Answer turn={turn} />
      {!isTalkOnly && turn.tool_uses.map((use) => <ToolLine key={use.index} use={use} />)}
      {turn.content === 'none' && (
        <p className={ui.soft}>The contents of this call were not recorded.</p>
      )}
    </section>
  )
}

function Facts({ turn }: { turn: Turn }) {
  const { latency_ms, time_to_first_token_ms, tokens, cost_usd, counted_once, retry_of } = turn
  return (
    <span className={css.facts}>
      <Plain>{turn.model}</Plain>
      <span>
        {formatDuration(latency_ms)}
        {time_to_first_token_ms !== null &&
          ` (first token ${formatDuration(time_to_first_token_ms)})`}
      </span>
      {tokens !== null && tokens.total > 0 && (
        <span title={bucketsOf(tokens)}>{formatCompact(tokens.total)} tokens</span>
      )}
      {cost_usd !== null && <span>{formatUsd(cost_usd)}</span>}
      {counted_once && <Badge tone="info">counted once</Badge>}
      {retry_of !== null && <Badge>repeats call {retry_of + 1}</Badge>}
    </span>
  )
}

function bucketsOf(tokens: NonNullable<Turn['tokens']>): string {
  const { input_uncached, cache_read, cache_write, output_visible, reasoning } = tokens
  return Object.entries({ input_uncached, cache_read, cache_write, output_visible, reasoning })
    .filter(([, count]) => count !== null && count > 0)
    .map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`)
    .join(', ')
}

function Failure({ of: { status, error, status_code, outcome } }: { of: Turn }) {
  if (status !== 'error' && error === null) return null
  const parts = [status_code > 0 ? String(status_code) : '', outcome, error?.type ?? '']
  return (
    <p className={ui.fault}>
      Failed: <Plain>{[...parts.filter(Boolean), error?.message ?? ''].join(' · ')}</Plain>
    </p>
  )
}

function Findings({ ids }: { ids: readonly string[] }) {
  const { findings } = useTurnView()
  const [, change] = useUrlState()
  const found = ids.flatMap((id) => findings.get(id) ?? [])
  return (
    <>
      {found.map(({ finding_id, severity, summary }) => (
        <p key={finding_id} className={css.finding}>
          <Severity of={severity} /> <Plain>{summary}</Plain>{' '}
          <Button small look="plain" onClick={() => change({ shown: finding_id }, { push: true })}>
            Evidence
          </Button>
        </p>
      ))}
    </>
  )
}

/** A tool use as one line: tool, main argument, outcome. Arguments and result are inside. */
function ToolLine({ use }: { use: TurnToolUse }) {
  const { index, latency_ms } = use
  const title = (
    <>
      <span className={css.toolTitle}>
        <Plain>{use.title || 'A result without its call'}</Plain>
      </span>
      <Outcome of={use} />
      {latency_ms !== null && <span className={ui.soft}>{formatDuration(latency_ms)}</span>}
      {use.result !== null && (
        <span className={css.preview}>
          <Plain>{beginning(use.result.text)}</Plain>
        </span>
      )}
    </>
  )
  return (
    <Fold name={`u${index}`} title={title} className={css.tool}>
      {() => <ToolDetails use={use} />}
    </Fold>
  )
}

function Outcome({ of: { error, answered, orphan, origin } }: { of: TurnToolUse }) {
  if (error === 'outage') return <Badge tone="bad">unavailable</Badge>
  if (error === 'error') return <Badge tone="bad">failed</Badge>
  if (orphan === 'result') return <Badge tone="warn">nobody asked</Badge>
  if (!answered) return <Badge tone="warn">no result</Badge>
  return origin === 'run' ? <Badge>ran without a recorded request</Badge> : null
}

function ToolDetails({ use }: { use: TurnToolUse }) {
  return (
    <>
      <h4>Arguments{!use.arguments_valid && ' (not valid JSON)'}</h4>
      {use.arguments === null ? <NotRecorded /> : <Content of={use.arguments} />}
      <h4>Result</h4>
      {use.result === null ? <NotRecorded /> : <Content of={use.result} />}
    </>
  )
}

function NotRecorded() {
  return <p className={ui.soft}>Not recorded</p>
}
