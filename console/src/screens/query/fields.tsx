import { createContext, useContext } from 'react'
import { api } from '../../api/client.ts'
import type {
  FilterOperator,
  QueryEntityFields,
  QueryField,
  QueryFields,
  QueryFieldType,
} from '../../api/schema.gen.d.ts'

const staleTimeMs = 10 * 60_000

/** Reads what queries can name. It changes only with the version of the service. */
export function useQueryFields() {
  return api.useQuery('get', '/api/v2/observability/query/fields', {}, { staleTime: staleTimeMs })
}

/** The fields that a part of the builder can choose from, with what their types allow. */
export type Choices = {
  fields: readonly QueryField[]
  maps: readonly string[]
  all: QueryFields
}

const ChoicesContext = createContext<Choices>({
  fields: [],
  maps: [],
  all: { entities: [], types: [], functions_without_field: [], limits: {} },
})

export const ChoicesProvider = ChoicesContext.Provider

/** Returns the fields that this part of the builder can choose from. */
export function useChoices(): Choices {
  return useContext(ChoicesContext)
}

/** Returns the description of an entity; undefined while it is read. */
export function entityNamed(all: QueryFields | undefined, name: string) {
  return all?.entities.find((each): each is QueryEntityFields => each.name === name)
}

/** Returns the type of a field or of a map's key; undefined for an unknown name. */
export function typeOf({ fields, maps }: Choices, name: string): QueryFieldType | undefined {
  const field = fields.find((each) => each.name === name)
  if (field !== undefined) return field.type
  return maps.some((map) => name.startsWith(`${map}.`)) ? 'text' : undefined
}

/** Returns the operators of a field. */
export function operatorsOf(choices: Choices, name: string): readonly FilterOperator[] {
  const type = typeOf(choices, name)
  return choices.all.types.find((each) => each.type === type)?.operators ?? []
}

/** The choice of a field. A key of a map gets a second input for its name. */
export function FieldSelect({
  label,
  value,
  onChange,
  allow = () => true,
  withKeys = false,
  none,
}: {
  label: string
  value: string
  onChange: (name: string) => void
  allow?: (field: QueryField) => boolean
  withKeys?: boolean
  /** Text of the choice of no field. */
  none?: string
}) {
  const choices = useChoices()
  const fields = choices.fields.filter(allow)
  const map = choices.maps.find((each) => value.startsWith(`${each}.`))
  const isKnown = map !== undefined || fields.some(({ name }) => name === value)
  return (
    <>
      <select
        aria-label={label}
        value={map === undefined ? value : `${map}.`}
        onChange={(event) => onChange(event.target.value)}
      >
        {none !== undefined && <option value="">{none}</option>}
        {!isKnown && value !== '' && <option value={value}>{value} (unknown)</option>}
        {fields.map(({ name, description }) => (
          <option key={name} value={name} title={description}>
            {name}
          </option>
        ))}
        {withKeys &&
          choices.maps.map((each) => (
            <option key={each} value={`${each}.`}>
              {each}.…
            </option>
          ))}
      </select>
      {map !== undefined && (
        <input
          type="text"
          aria-label={`${label}: key of ${map}`}
          placeholder="key"
          value={value.slice(map.length + 1)}
          onChange={(event) => onChange(`${map}.${event.target.value}`)}
        />
      )}
    </>
  )
}
