import { useState } from 'react'
import { call } from '../../api/client.ts'
import type { TaskRule } from '../../api/schema.gen.d.ts'
import { CheckField } from '../../ui/fields.tsx'
import ui from '../../ui/ui.module.css'
import { type Own, toVersion, useWrite } from './own-project.ts'
import { SavedForm } from './saved-form.tsx'

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
export function TaskRules(own: Own) {
  return <Editor key={own.project.version} {...own} />
}

function Editor({ project, mayChange, reload }: Own) {
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
