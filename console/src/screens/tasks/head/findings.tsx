import type { Finding, Task, TaskFindingList } from '../../../api/schema.gen.d.ts'
import { useUrlState } from '../../../browser/use-search.ts'
import { formatCount, formatShare, formatUsd } from '../../../ui/format.ts'
import { Json } from '../../../ui/json.tsx'
import { Badge, Button, Facts, Severity, Time } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { severities } from '../../shared/severities.ts'
import { jumpTo } from '../turns/use-target.ts'
import css from './head.module.css'

const folded_max = 3

/** The findings of a task with their evidence, and what could not be checked. */
export function Findings({ of: { findings, not_checked } }: { of: TaskFindingList }) {
  const [{ findings: isWhole, shown }, change] = useUrlState()
  const all = findings
    .filter(({ state }) => state !== 'withdrawn')
    .toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  const isLong = all.length > folded_max
  const visible = all.filter(
    ({ finding_id }, at) => at < folded_max || isWhole === '1' || finding_id === shown,
  )
  return (
    <section className={ui.stack} aria-label="Findings">
      {all.length > 0 && <h2>Findings</h2>}
      {all.length > 0 && (
        <ul className={css.findings}>
          {visible.map((finding) => (
            <FindingRow key={finding.finding_id} finding={finding} />
          ))}
        </ul>
      )}
      {isLong && (
        <Button
          small
          aria-expanded={isWhole === '1'}
          onClick={() => change({ findings: isWhole === '1' ? undefined : '1' })}
        >
          {isWhole === '1' ? 'Show the first ones' : `Show all ${all.length} findings`}
        </Button>
      )}
      <NotChecked of={not_checked} />
    </section>
  )
}

function FindingRow({ finding }: { finding: Finding }) {
  const [{ shown }, change] = useUrlState()
  const { finding_id, severity, state, summary, type, wasted_cost_usd } = finding
  const isOpen = shown === finding_id
  return (
    <li>
      <div className={ui.row}>
        <Severity of={severity} />
        <code>{type}</code>
        {state === 'recovered' && <Badge tone="good">recovered</Badge>}
        <span className={css.summary}>
          <Plain>{summary}</Plain>
        </span>
        {Number(wasted_cost_usd) > 0 && (
          <span className={ui.soft}>{formatUsd(wasted_cost_usd)} wasted</span>
        )}
        <JumpToStep finding={finding} />
        <Button
          small
          aria-expanded={isOpen}
          onClick={() => change({ shown: isOpen ? undefined : finding_id })}
        >
          Evidence
        </Button>
      </div>
      {isOpen && <Evidence of={finding} />}
    </li>
  )
}

function JumpToStep({ finding }: { finding: Finding }) {
  const [, change] = useUrlState()
  const { finding_id, start_step, end_step, places } = finding
  if (start_step === null && places.length === 0) return null
  const target = start_step === null ? { finding: finding_id } : { step: start_step }
  const isRange = start_step !== null && end_step !== null && end_step > start_step
  const name = isRange
    ? `Steps ${start_step + 1}–${end_step + 1}`
    : start_step === null
      ? 'Show the call'
      : `Step ${start_step + 1}`
  return (
    <Button small onClick={() => change(jumpTo(target), { push: true })}>
      {name}
    </Button>
  )
}

function Evidence({ of: finding }: { of: Finding }) {
  const { confidence, detector, detector_version, judge, repeats, period, evidence } = finding
  return (
    <div className={css.evidence}>
      <Facts
        of={[
          ['Confidence', formatShare(confidence)],
          ['Repeats', repeats],
          ['Steps per iteration', period],
          ['Detector', `${detector}, version ${detector_version}`],
          ['Judge', judge],
        ]}
      />
      <Json value={evidence} open={3} />
    </div>
  )
}

function NotChecked({ of }: { of: TaskFindingList['not_checked'] }) {
  const [{ unchecked }, change] = useUrlState()
  if (of.length === 0) return null
  const isOpen = unchecked === '1'
  const byReason = Map.groupBy(of, ({ reason }) => reason)
  return (
    <div>
      <Button
        small
        look="plain"
        aria-expanded={isOpen}
        onClick={() => change({ unchecked: isOpen ? undefined : '1' })}
      >
        {isOpen ? '▾' : '▸'} Not checked by {of.length} detectors
      </Button>
      {isOpen && (
        <ul className={css.unchecked}>
          {[...byReason].map(([reason, some]) => (
            <li key={reason}>
              <Plain>{reason}</Plain>: {some.map(({ detector }) => detector).join(', ')}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type VerdictProps = {
  task: Task
  findings: readonly Finding[]
  /** Whether the analysis has seen the newest calls. */
  isCurrent: boolean
}

/** The verdict in one sentence, with the step that caused it pinned below. */
export function VerdictBox({ task: { verdict }, findings, isCurrent }: VerdictProps) {
  if (verdict === null) {
    return (
      <p className={css.verdict}>
        Not analysed yet. The verdict appears a few seconds after a call.
      </p>
    )
  }
  const { summary, worst_severity, recovered, values, detected_at } = verdict
  return (
    <section className={css.verdict} aria-label="Verdict">
      <p className={css.sentence}>
        {worst_severity === null ? (
          <Badge tone="good">nothing wrong</Badge>
        ) : (
          <Severity of={worst_severity} />
        )}{' '}
        <Plain>{summary}</Plain>
      </p>
      <RootCause verdict={verdict} findings={findings} />
      <p className={ui.soft}>
        {Number(verdict.wasted_cost_usd) > 0 && (
          <>
            {formatUsd(verdict.wasted_cost_usd)} and {formatCount(verdict.wasted_tokens)} tokens
            wasted ·{' '}
          </>
        )}
        {recovered > 0 && `${formatCount(recovered)} recovered · `}
        {values !== null &&
          values.checked > 0 &&
          `${formatCount(values.checked)} values of the answer checked · `}
        analysed <Time at={detected_at} ago />
        {!isCurrent && ' · newer calls are not analysed yet'}
      </p>
    </section>
  )
}

function RootCause({
  verdict: { root_cause },
  findings,
}: {
  verdict: NonNullable<Task['verdict']>
  findings: readonly Finding[]
}) {
  const [, change] = useUrlState()
  if (root_cause === null) return null
  const { step, type, finding_id } = root_cause
  const finding = findings.find((one) => one.finding_id === finding_id)
  const go = () =>
    change(jumpTo(step === null ? { finding: finding_id } : { step }), { push: true })
  return (
    <div className={css.cause}>
      <span className={css.causeText}>
        <strong>Root cause{step !== null && ` at step ${step + 1}`}</strong>: <code>{type}</code>{' '}
        <Plain>{finding?.summary ?? ''}</Plain>
      </span>
      <Button look="primary" onClick={go}>
        {step === null ? 'Go to it' : `Go to step ${step + 1}`}
      </Button>
    </div>
  )
}
