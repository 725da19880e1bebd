import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { TaskRule } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { AreaField, CheckField, faultAt, TextField } from '../../ui/fields.tsx'
import { ManagedBy } from '../../ui/managed-by.tsx'
import { NeedsRole } from '../../ui/needs-role.tsx'
import { Badge, Button, Heading, Time } from '../../ui/parts.tsx'
import { Fault, Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { Capture } from './capture.tsx'
import { Detection } from './detection.tsx'
import { General } from './general.tsx'
import { type Own, toVersion, useWrite } from './own-project.ts'
import { SavedForm } from './saved-form.tsx'

/** The settings of a project: its name, capture, detection and environments. */
export function Settings() {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const project = api.useQuery('get', '/api/v2/access/projects/{project_id}', {
    params: { path: { project_id } },
  })
  return (
    <>
      <Heading title="Settings">
        {project.data?.archived_at && <Badge tone="warn">archived</Badge>}
      </Heading>
      {!isAdmin && <NeedsRole what="Changing settings" needs="admin in the project" />}
      <Loaded query={project} what="Reading the project">
        {(stored) => {
          const mayChange = isAdmin && stored.managed_by === null
          const own = { project: stored, mayChange, reload: () => void project.refetch() }
          return (
            <>
              <ManagedBy by={stored.managed_by} />
              <Tabs
                label="Settings"
                tabs={[
                  { id: 'general', title: 'General', render: () => <General {...own} /> },
                  {
                    id: 'environments',
                    title: 'Environments',
                    render: () => <Environments {...own} />,
                  },
                  { id: 'tasks', title: 'Task rules', render: () => <TaskRules {...own} /> },
                  { id: 'capture', title: 'Capture', render: () => <Capture isAdmin={isAdmin} /> },
                  {
                    id: 'detection',
                    title: 'Detection',
                    render: () => <Detection isAdmin={isAdmin} />,
                  },
                  { id: 'archive', title: 'Archive', render: () => <ArchiveProject {...own} /> },
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

const path = '/api/v2/access/projects/{project_id}'

/** Ends the changes and the ingest of a project, or brings them back. */
function ArchiveProject({ project, mayChange }: Own) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const isArchived = project.archived_at !== null
  const write = useWrite(isArchived ? 'The project is in use again.' : 'The project is archived.')
  const params = { path: { project_id: project.id } }
  const send = async () => {
    setOpen(false)
    setTyped('')
    await write.run(() =>
      isArchived
        ? call.POST(`${path}/unarchive`, { params })
        : call.POST(`${path}/archive`, { params }),
    )
  }
  return (
    <div className={ui.stack}>
      {project.archived_at !== null && (
        <p>
          The project was archived <Time at={project.archived_at} ago />.
        </p>
      )}
      <p>
        An archived project can be read. Completions, ingest and changes are refused, and its data
        stay until retention deletes them. An administrator can bring it back; its keys are then
        valid again. A project is not deleted as a whole: set a retention policy, or erase users.
      </p>
      {write.error !== undefined && <Fault error={write.error} />}
      <div>
        <Button
          look={isArchived ? 'primary' : 'danger'}
          disabled={!mayChange || write.isRunning}
          onClick={() => (isArchived ? void send() : setOpen(true))}
        >
          {isArchived ? 'Bring the project back' : 'Archive the project'}
        </Button>
      </div>
      <Confirm
        title="Archive the project"
        action="Archive the project"
        open={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => void send()}
        isRunning={typed !== project.name}
      >
        <p>
          Applications that send to <Plain>{project.name}</Plain> get errors at once. Type its name
          to confirm.
        </p>
        <TextField
          label="Name of the project"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </Confirm>
    </div>
  )
}

/** The environments that keys and data may name. */
function Environments(own: Own) {
  return <EnvironmentsEditor key={own.project.version} {...own} />
}

function EnvironmentsEditor({ project, mayChange, reload }: Own) {
  const [isLimited, setLimited] = useState(project.environments !== null)
  const [text, setText] = useState((project.environments ?? ['production']).join('\n'))
  const write = useWrite('The environments are saved.')
  const listed = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return (
    <SavedForm
      what="environments"
      write={write}
      mayChange={mayChange}
      reload={reload}
      save={() =>
        call.PUT('/api/v2/access/projects/{project_id}/environments', {
          params: toVersion(project),
          body: { environments: isLimited ? listed : null },
        })
      }
    >
      <CheckField
        label="Only these environments may be named by keys"
        checked={isLimited}
        disabled={!mayChange}
        onChange={({ target }) => setLimited(target.checked)}
      />
      {isLimited ? (
        <AreaField
          label="Environments"
          value={text}
          disabled={!mayChange}
          onChange={({ target }) => setText(target.value)}
          fault={faultAt(faultsOf(write.error), '/environments')}
          hint="One a line, such as production and staging."
        />
      ) : (
        <p className={ui.soft}>Any name is accepted.</p>
      )}
    </SavedForm>
  )
}

/** The rules that find the task of a call without X-Task-ID, in their order. */
const rules: readonly (readonly [TaskRule, string])[] = [
  ['claude_code', 'sessions of Claude Code'],
  ['codex', 'sessions of Codex CLI'],
  ['x_session_id', 'the header X-Session-Id'],
  ['x_session_affinity', 'the header X-Session-Affinity'],
  ['x_opencode_session', 'sessions of OpenCode'],
  ['metadata_user_id', 'a session in metadata.user_id of the Messages API'],
  ['prompt_cache_key', 'prompt_cache_key of the OpenAI APIs'],
  ['conversation', 'conversation of the Responses API'],
  ['response_id', 'previous_response_id of the Responses API'],
  ['history', 'messages that an earlier call sent too'],
]

/** Which rules find sessions and tasks of calls that name none. */
function TaskRules(own: Own) {
  return <TaskRulesEditor key={own.project.version} {...own} />
}

function TaskRulesEditor({ project, mayChange, reload }: Own) {
  const [off, setOff] = useState<readonly TaskRule[]>(project.task_rules_off)
  const write = useWrite('The task rules are saved.')
  return (
    <SavedForm
      what="task rules"
      write={write}
      mayChange={mayChange}
      reload={reload}
      save={() =>
        call.PUT('/api/v2/access/projects/{project_id}/task-rules', {
          params: toVersion(project),
          body: { off: [...off] },
        })
      }
    >
      <p>
        Calls without X-Task-ID and X-Conversation-ID belong to the task that one of these finds. A
        change counts for new calls.
      </p>
      <fieldset className={ui.choices}>
        <legend>Rules that are on</legend>
        {rules.map(([rule, about]) => (
          <CheckField
            key={rule}
            label={`${rule}: ${about}`}
            checked={!off.includes(rule)}
            disabled={!mayChange}
            onChange={({ target }) =>
              setOff(target.checked ? off.filter((each) => each !== rule) : [...off, rule])
            }
          />
        ))}
      </fieldset>
    </SavedForm>
  )
}
