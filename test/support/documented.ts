import { Ajv2020 } from 'ajv/dist/2020.js'
import { openapiDocument, type Route } from '../../src/platform/http/index.ts'

type Reply = { status: number; body: unknown }
type Operation = { responses: Record<string, { content?: Record<string, { schema: object }> }> }

/**
 * Makes the check of answers against the OpenAPI document of some routes: undefined for an answer
 * whose status and shape the document lists, else what differs.
 */
export function documentedBy(routes: readonly Route[]) {
  const { paths } = openapiDocument(routes, { version: 'test' }) as {
    paths: Record<string, Record<string, Operation>>
  }
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, date: true, uuid: true } })
  return (id: string, { status, body }: Reply): string | undefined => {
    const operations = Object.values(paths).flatMap((path) => Object.values(path))
    const operation = operations.find((one) => 'operationId' in one && one.operationId === id)
    if (operation === undefined) return `no operation ${id}`
    const response = operation.responses[String(status)]
    if (response === undefined) return `${id} lists no status ${status}`
    const schema = response.content?.['application/json']?.schema
    if (schema === undefined || ajv.validate(schema, body)) return undefined
    return `${id} ${status}: ${ajv.errorsText()}`
  }
}
