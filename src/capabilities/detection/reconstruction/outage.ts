/**
 * Tells whether an error's own words say that something did not answer: too many requests, a
 * server's failure, a time-out, a connection that failed. What an agent did wrong reads otherwise.
 */
export function isOutageText(text: string): boolean {
  return outageWords.test(text)
}

/** 408, 425, 429 and 5xx, but for 501 and 505, which no second try changes. */
export function isOutageStatus(status: number): boolean {
  if (status === 408 || status === 425 || status === 429) return true
  return status >= 500 && status < 600 && status !== 501 && status !== 505
}

const outageWords = new RegExp(
  [
    String.raw`\b(?:status|code|http|error|http/[12](?:\.[01])?)["']?[ :=(]{1,4}(?:code["']?[ :=]{1,3})?(?:408|425|429|500|502|503|504|520|521|522|523|524|529)\b`,
    String.raw`^\s*(?:429|500|502|503|504|529)\b`,
    'too many requests|rate[- _]?limit(?:ed|s)?(?: exceeded| reached)?|quota exceeded',
    'service (?:is )?(?:temporarily )?unavailable|bad gateway|gateway time-?out',
    'internal server error|temporarily unavailable|overloaded(?:_error)?',
    String.raw`timed? ?out|\btimeout(?:error)?\b|deadline exceeded`,
    String.raw`\be(?:timedout|connrefused|connreset|hostunreach|netunreach|ai_again|pipe)\b|\benotfound\b`,
    String.raw`connection (?:was )?(?:refused|reset|aborted|closed|error|failed|lost)|\bconnection ?error\b`,
    'socket hang up|network (?:is )?unreachable|no route to host|could not resolve host',
    'temporary failure in name resolution|name or service not known|fetch failed',
  ].join('|'),
  'i',
)
