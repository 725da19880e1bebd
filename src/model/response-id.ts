/** Ids of answers of the Responses API: https://platform.openai.com/docs/api-reference/responses/object */
const responseId = /^resp_[0-9A-Za-z]+$/

/** Returns whether an id has the form of an answer of the Responses API. Other APIs may use such ids too. */
export function isResponseId(id: string): boolean {
  return responseId.test(id)
}
