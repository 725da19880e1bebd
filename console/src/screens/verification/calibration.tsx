import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../../api/client.ts'
import type { VerificationCalibration } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../session/project.ts'
import { Chart } from '../../ui/chart.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Progress } from '../../ui/job.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { stepCurve } from './step-curve.ts'

type Verifier = VerificationCalibration['verifiers'][number]
type Fit = NonNullable<Verifier['fit']>

const path = '/api/v1/verification/calibration'

/** Whether the stated confidence of each verifier is right, by the verdicts of people. */
export function CalibrationTab() {
  const query = api.useQuery('get', path)
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const fit = api.useMutation('post', `${path}/fit`, {
    onSuccess: async () => {
      notify('The confidence is fitted to the labels.')
      await client.invalidateQueries({ queryKey: ['get', path] })
    },
    onError: notifyFault,
  })
  return (
    <Loaded query={query} what="Reading the calibration">
      {({ verifiers, labels_needed, claims_disputed }) => (
        <div className={ui.stack}>
          <p>
            Verdicts of people on claims are labels. With {formatCount(labels_needed)} labels of a
            verifier, its confidence can be fitted to them.
            {claims_disputed > 0 &&
              ` ${formatCount(claims_disputed)} claims are no label, because people disagree.`}
          </p>
          <Table
            label="Labels by verifier"
            columns={columns(labels_needed)}
            rows={verifiers}
            keyOf={({ name }) => name}
          />
          <div className={ui.row}>
            <Button disabled={!isAdmin || fit.isPending} onClick={() => fit.mutate({})}>
              {fit.isPending ? 'Fitting…' : 'Fit to the labels'}
            </Button>
            {!isAdmin && <span className={ui.soft}>Only administrators of the project fit.</span>}
          </div>
          {verifiers.map(({ name, fit: own }) => own && <Curve key={name} name={name} fit={own} />)}
        </div>
      )}
    </Loaded>
  )
}

const error = (value: number | null) => (value === null ? 'none' : value.toFixed(3))

const columns = (needed: number): Column<Verifier>[] => [
  { id: 'name', head: 'Verifier', cell: ({ name }) => name },
  {
    id: 'labels',
    head: 'Labels that count',
    cell: ({ labels_counted }) => (
      <Progress label={`${labels_counted} of ${needed}`} done={labels_counted} of={needed} />
    ),
  },
  { id: 'all', head: 'All labels', number: true, wide: true, cell: ({ labels }) => labels },
  { id: 'people', head: 'People', number: true, cell: ({ people }) => people },
  {
    id: 'largest',
    head: 'Largest share of one',
    number: true,
    wide: true,
    cell: ({ largest_share }) => (largest_share === null ? 'none' : formatShare(largest_share)),
  },
  { id: 'ece', head: 'Calibration error', number: true, cell: ({ ece }) => error(ece) },
  { id: 'brier', head: 'Brier score', number: true, wide: true, cell: ({ brier }) => error(brier) },
]

/** The measured confidence for each stated one, beside what would be perfect. */
function Curve({ name, fit }: { name: string; fit: Fit }) {
  const { x, series } = useMemo(() => stepCurve(fit.steps), [fit.steps])
  return (
    <section className={ui.stack} aria-label={`Calibration of ${name}`}>
      <h2>
        {name}, fit {fit.version} of <Time at={fit.created_at} />
      </h2>
      {!fit.calibrated && <p>Too few labels: the confidence stays as it is stated.</p>}
      {x.length > 0 && (
        <Chart
          label={`Measured confidence of ${name}, by the stated one`}
          format={formatPercent}
          formatX={formatPercent}
          {...{ x, series }}
        />
      )}
      <Table
        label={`Steps of ${name}`}
        rows={fit.steps}
        keyOf={({ from }) => String(from)}
        columns={[
          { id: 'from', head: 'Stated from', number: true, cell: ({ from }) => formatShare(from) },
          { id: 'value', head: 'Measured', number: true, cell: ({ value }) => formatShare(value) },
        ]}
      />
    </section>
  )
}

const formatPercent = (percent: number) => `${Math.round(percent)} %`
