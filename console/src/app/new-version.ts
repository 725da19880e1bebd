const reloadedFor = 'looptrace.reloaded'

/**
 * Reloads a tab whose version is no longer served: after an upgrade, its lazy parts are gone. One
 * reload for each page, because a part can be missing for other reasons.
 */
export function reloadForNewVersion(): void {
  window.addEventListener('vite:preloadError', (event) => {
    if (sessionStorage.getItem(reloadedFor) === window.location.href) return
    sessionStorage.setItem(reloadedFor, window.location.href)
    event.preventDefault()
    window.location.reload()
  })
}
