import { contentAttributes } from '../../../model/content-attributes.ts'
import type { QueryParams } from '../../../platform/columnar/index.ts'
import type { RecordKind } from '../record-contract.ts'

/** How the content of a kind is found and taken out. */
export type ContentMask = {
  /** True of rows that still have content. */
  where: string
  /** What an ALTER TABLE … UPDATE sets; undefined: the rows are deleted, for they are content. */
  set: string | undefined
  params: QueryParams
}

const { keys, request_parameters } = contentAttributes()
const attributeParams = { content_keys: keys, request_parameters }

/** Whether an attribute's key says that it holds content: `isContentAttribute` of the model. */
const isContent = `if(startsWith(key, 'request.'),
  substring(key, ${'request.'.length + 1}) NOT IN {request_parameters:Array(String)},
  match(key, {content_keys:String}))`
const hasContent = `arrayExists(key -> ${isContent}, mapKeys(attributes))`
const withoutContent = `mapFilter((key, value) -> NOT (${isContent}), attributes)`

/** What capture's `metadata_only` leaves out of each kind, to be taken out afterwards. */
export const contentMasks: Record<RecordKind, ContentMask> = {
  observations: {
    where: "content_state IN ('full', 'truncated')",
    set: `input = '', output = '', error_message = '',
  tool_calls = arrayMap(call -> (call.1, call.2, ''), tool_calls),
  tool_results = arrayMap(result -> (result.1, ''), tool_results),
  attributes = ${withoutContent}, content_state = 'expired'`,
    params: attributeParams,
  },
  traces: {
    where: "(input != '' OR output != '')",
    set: "input = '', output = ''",
    params: {},
  },
  events: {
    where: `(body != '' OR ${hasContent})`,
    set: `body = '', attributes = ${withoutContent}`,
    params: attributeParams,
  },
  links: {
    where: `(${hasContent})`,
    set: `attributes = ${withoutContent}`,
    params: attributeParams,
  },
  correlations: { where: "correlation_type = 'w3c_baggage'", set: undefined, params: {} },
}
