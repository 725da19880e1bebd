import { useState } from 'react'
import { Copy } from '../../ui/copy.tsx'
import { AreaField } from '../../ui/fields.tsx'
import ui from '../../ui/ui.module.css'
import type { RuleDraft } from './rule-draft.ts'
import { fromYaml, toYaml } from './rule-yaml.ts'
import css from './rules.module.css'

/** The rule as an IncidentRule resource. A change of the text changes the fields, and the reverse. */
export function YamlEditor({
  draft,
  isLocked,
  onChange,
  project,
}: {
  draft: RuleDraft
  isLocked: boolean
  onChange: (draft: RuleDraft) => void
  project: string
}) {
  const [text, setText] = useState(() => toYaml(draft, project))
  const read = fromYaml(text)
  return (
    <div className={ui.stack}>
      <p className={ui.soft}>
        The resource of this rule: for <code>kubectl apply</code>,{' '}
        <code>looptrace rules apply</code> and <code>looptrace test</code>.
      </p>
      <AreaField
        label="YAML"
        className={css.yaml}
        rows={Math.min(40, text.split('\n').length + 2)}
        spellCheck={false}
        readOnly={isLocked}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          const next = fromYaml(event.target.value)
          if ('rule' in next) onChange(next.rule)
        }}
        fault={'fault' in read ? read.fault : undefined}
      />
      <span>
        <Copy text={() => text}>Copy the YAML</Copy>
      </span>
    </div>
  )
}
