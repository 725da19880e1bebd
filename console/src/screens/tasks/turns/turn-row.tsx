import type { Turn, TurnClaim, TurnToolUse } from '../../../api/schema.gen.d.ts'
import { useUrlState } from '../../../browser/use-search.ts'
import {
  formatCompact,
  formatDuration,
  formatNumberOf,
  formatShare,
  formatUsd,
} from '../../../ui/format.ts'
import { Badge, Button, classes, Severity, type Tone } from '../../../ui/parts.tsx'
import { LongText, Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { type ClaimPart, splitClaims } from './claim-parts.ts'
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

const verdicts: Record<TurnClaim['verdict'], { word: string; tone?: Tone; line?: string }> = {
  supported: { word: 'supported', tone: 'good', line: css['supported'] ?? '' },
  likely: { word: 'likely', tone: 'good', line: css['likely'] ?? '' },
  contradicted: { word: 'contradicted', tone: 'bad', line: css['contradicted'] ?? '' },
  not_found: { word: 'not found in the sources', tone: 'warn', line: css['notFound'] ?? '' },
  unverifiable: { word: 'cannot be checked', line: css['unchecked'] ?? '' },
  skipped: { word: 'skipped', line: css['unchecked'] ?? '' },
}

/** The answer of a call. Claims are underlined; a list below says what is known about each. */
function Answer({ turn }: { turn: Turn }) {
  const { isTalkOnly } = useTurnView()
  const { answer, verification } = turn
  if (answer === null) return null
  const { text, reasoning, refused, partial } = answer
  const hasClaims = verification !== null && verification.of_this_text !== false
  return (
    <>
      {reasoning !== null && !isTalkOnly && (
        <Fold name={`r${turn.turn}`} title={<span className={ui.soft}>Reasoning</span>}>
          {() => <Content of={reasoning} />}
        </Fold>
      )}
      {(refused || partial) && (
        <p>
          {refused && <Badge tone="warn">refused</Badge>}{' '}
          {partial && <Badge tone="warn">cut off before its end</Badge>}
        </p>
      )}
      {text !== null && text.text !== '' && (
        <div className={css.message}>
          <div className={css.role}>Agent</div>
          <div className={css.said}>
            {hasClaims ? (
              <ClaimedText parts={splitClaims(text.text, verification.claims)} />
            ) : (
              <LongText text={text.text} />
            )}
            {text.cut && <p className={ui.soft}>The rest of the answer is not shown.</p>}
          </div>
        </div>
      )}
      {verification !== null && <Claims turn={turn} />}
    </>
  )
}

function ClaimedText({ parts }: { parts: readonly ClaimPart[] }) {
  return (
    <p className={ui.text}>
      {parts.map(({ at, text, claims }) => {
        const [claim] = claims
        if (claim === undefined) return <Plain key={at}>{text}</Plain>
        const { word, line } = verdicts[claim.verdict]
        return (
          <span key={at} className={classes(css.claim, line)} title={word}>
            <Plain>{text}</Plain>
          </span>
        )
      })}
    </p>
  )
}

function Claims({ turn: { turn, verification } }: { turn: Turn }) {
  if (verification === null) return null
  const { claims, claims_total, trust_score, of_this_text } = verification
  const bad = claims.filter(({ verdict }) => verdict === 'contradicted').length
  const title = (
    <>
      {formatNumberOf(claims_total, 'claim')}
      {trust_score !== null && <Badge>trust {formatShare(trust_score)}</Badge>}
      {bad > 0 && <Badge tone="bad">{bad} contradicted</Badge>}
    </>
  )
  return (
    <Fold name={`c${turn}`} title={title}>
      {() => (
        <>
          {of_this_text === false && (
            <p className={ui.soft}>The answer has changed since it was verified.</p>
          )}
          <ul className={css.claims}>
            {claims.map(({ claim_id, text, verdict, probability }) => (
              <li key={claim_id}>
                <Badge tone={verdicts[verdict].tone}>{verdicts[verdict].word}</Badge>{' '}
                <Plain>{text}</Plain>
                {probability !== null && (
                  <span className={ui.soft}> {formatShare(probability)} likely true</span>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Fold>
  )
}
