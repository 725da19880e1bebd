/**
 * Ids of answers of the Responses API: https://platform.openai.com/docs/api-reference/responses/object. Those of
 * LiteLLM have base64 after the prefix.
 */
const responseId = /^resp_[0-9A-Za-z+/]+={0,2}$/

/** Returns whether an id has the form of an answer of the Responses API. Other APIs may use such ids too. */
export function isResponseId(id: string): boolean {
  return responseId.test(id)
}
