import type { Finding, Task } from '../../../api/schema.gen.d.ts'
import { useUrlState } from '../../../browser/use-search.ts'
import { formatCount, formatUsd } from '../../../ui/format.ts'
import { Badge, Button, Severity, Time } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { jumpTo } from '../turns/use-target.ts'
import css from './head.module.css'

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
