import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { type Fault as FieldFault, faultsOf } from '../../api/problem.ts'
import type {
  DetectionPreview,
  DetectionSettingsInput,
  ProjectDetectionSettings,
} from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Changed } from '../../ui/changed.tsx'
import { CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { formatCount } from '../../ui/format.ts'
import { Badge, Button, Severity } from '../../ui/parts.tsx'
import { Empty, Fault, Loaded } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { changedSettings, type Detectors, type DetectorValues } from './detection-draft.ts'
import { useWrite } from './own-project.ts'

/** Which detectors run, and their thresholds. */
export function Detection({ isAdmin }: { isAdmin: boolean }) {
  const settings = api.useQuery('get', '/api/v1/detection/settings')
  return (
    <Loaded query={settings} what="Reading the detection settings">
      {(stored) => (
        <Editor
          key={stored.version}
          stored={stored}
          isAdmin={isAdmin}
          reload={() => void settings.refetch()}
        />
      )}
    </Loaded>
  )
}

function Editor({
  stored,
  isAdmin,
  reload,
}: {
  stored: ProjectDetectionSettings
  isAdmin: boolean
  reload: () => void
}) {
  const mayPreview = useHasRole('editor')
  const before = stored.detectors as unknown as Detectors
  const [draft, setDraft] = useState(before)
  const changed = changedSettings(before, draft)
  const detectors = draft as unknown as DetectionSettingsInput
  const preview = api.useMutation('post', '/api/v1/detection/settings/preview')
  const write = useWrite(
    'The detection settings are saved. They count for tasks analysed from now on.',
  )
  const faults = faultsOf(write.error ?? preview.error)
  const isBusy = write.isRunning || preview.isPending
  return (
    <div className={ui.stack}>
      <p>
        Thresholds decide when something counts as a finding. See what a change would do to recent
        tasks before you save it.
      </p>
      {Object.entries(draft).map(([name, values]) => (
        <Detector
          key={name}
          name={name}
          values={values}
          before={before[name] ?? values}
          isDisabled={!mayPreview}
          faults={faults}
          onChange={(to) => setDraft({ ...draft, [name]: to })}
        />
      ))}
      <p role="status">
        {changed.length === 0 ? 'Nothing is changed.' : `Changed: ${changed.join(', ')}.`}
      </p>
      {preview.error !== null && <Fault error={preview.error} />}
      {write.error !== undefined && <Changed error={write.error} onReload={reload} />}
      <div className={ui.row}>
        <Button
          disabled={!mayPreview || isBusy || changed.length === 0}
          onClick={() => preview.mutate({ body: { detectors } })}
        >
          {preview.isPending ? 'Analysing…' : 'See what would change'}
        </Button>
        <Button
          look="primary"
          disabled={!isAdmin || isBusy || changed.length === 0}
          onClick={() =>
            void write.run(() =>
              call.PUT('/api/v1/detection/settings', {
                params: { header: { 'If-Match': `"${stored.version}"` } },
                body: { detectors },
              }),
            )
          }
        >
          {write.isRunning ? 'Saving…' : 'Save the settings'}
        </Button>
        <Button look="plain" disabled={changed.length === 0} onClick={() => setDraft(before)}>
          Undo
        </Button>
      </div>
      {preview.data !== undefined && <DetectionChanges preview={preview.data} />}
    </div>
  )
}

const tones = { added: 'warn', removed: 'good', changed: 'info' } as const

/** The findings in recent tasks that other settings would add or remove. */
function DetectionChanges({ preview }: { preview: DetectionPreview }) {
  const project_id = useProjectId()
  const { tasks, skipped, findings_now, findings_asked, changes } = preview
  return (
    <section className={ui.stack} aria-label="What would change">
      <h2>What would change</h2>
      <p role="status">
        In the last {formatCount(tasks)} tasks: {formatCount(findings_now)} findings now,{' '}
        {formatCount(findings_asked)} with these settings.
        {skipped > 0 && ` ${formatCount(skipped)} tasks could not be analysed.`}
      </p>
      <Table
        label="Changed findings"
        rows={changes}
        keyOf={({ task_id, type, start_step, change }) =>
          `${task_id} ${type} ${start_step} ${change}`
        }
        columns={[
          {
            id: 'change',
            head: 'Change',
            cell: ({ change }) => <Badge tone={tones[change]}>{change}</Badge>,
          },
          {
            id: 'finding',
            head: 'Finding',
            cell: ({ type, severity, summary }) => (
              <>
                {type.replaceAll('_', ' ')} <Severity of={severity} />
                <div>
                  <Plain>{summary}</Plain>
                </div>
              </>
            ),
          },
          {
            id: 'task',
            head: 'Task',
            cell: ({ task_id }) => (
              <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
                <Plain>{task_id}</Plain>
              </Link>
            ),
          },
        ]}
        empty={<Empty title="No finding of these tasks would change" />}
      />
    </section>
  )
}

/** The switch and the thresholds of one detector. */
function Detector({
  name,
  values,
  before,
  isDisabled,
  faults,
  onChange,
}: {
  name: string
  values: DetectorValues
  before: DetectorValues
  isDisabled: boolean
  faults: readonly FieldFault[]
  onChange: (values: DetectorValues) => void
}) {
  const isChanged = JSON.stringify(values) !== JSON.stringify(before)
  const fields = Object.entries(values).filter(([field]) => field !== 'enabled')
  return (
    <details open={isChanged || undefined}>
      <summary>
        {name.replaceAll('_', ' ')}{' '}
        {values['enabled'] === true ? <Badge tone="good">on</Badge> : <Badge>off</Badge>}{' '}
        {isChanged && <Badge tone="info">changed</Badge>}
      </summary>
      <div className={ui.row} style={{ padding: '8px 16px', alignItems: 'end' }}>
        <CheckField
          label="On"
          aria-label={`${name} is on`}
          checked={values['enabled'] === true}
          disabled={isDisabled}
          onChange={({ target }) => onChange({ ...values, enabled: target.checked })}
        />
        {fields.map(([field, value]) => {
          const label = field.replaceAll('_', ' ')
          const fault = faultAt(faults, `/detectors/${name}/${field}`)
          if (typeof value === 'boolean') {
            return (
              <CheckField
                key={field}
                label={label}
                checked={value}
                disabled={isDisabled}
                onChange={({ target }) => onChange({ ...values, [field]: target.checked })}
              />
            )
          }
          if (typeof value !== 'number') return <Windows key={field} of={value} />
          return (
            <TextField
              key={field}
              label={label}
              type="number"
              step="any"
              style={{ width: 130 }}
              value={Number.isNaN(value) ? '' : value}
              disabled={isDisabled}
              fault={fault}
              onChange={({ target }) => onChange({ ...values, [field]: target.valueAsNumber })}
            />
          )
        })}
      </div>
    </details>
  )
}

/** Context windows by prefix of a model's name, which only the API changes. */
function Windows({ of }: { of: Readonly<Record<string, number>> }) {
  const windows = Object.entries(of).map(([model, tokens]) => `${model}: ${tokens}`)
  return (
    <p className={ui.soft}>
      Context windows of your own: {windows.join(', ') || 'none'}. Set them with{' '}
      <code>PUT /api/v1/detection/settings</code>.
    </p>
  )
}
