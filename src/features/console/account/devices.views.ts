import { device } from '../../../platform/pages/components/devices.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Device, EndedDevice } from '../console.service.ts'
import { endWords } from '../end-words.ts'

/** The API lists more of them. */
const maxEnded = 10

export function devicesCard(devices: readonly Device[], ended: readonly EndedDevice[]) {
  return html`<section class="card" aria-labelledby="devices">
<div class="row">
<h2 id="devices">Devices signed in</h2>
<form class="end" method="post" action="/console/account/sign-out-everywhere" data-confirm="Sign out on every device, this one too?" data-confirm-button="Sign out everywhere"><button class="bad">Sign out everywhere</button></form>
</div>
<table class="stack devices">
<thead><tr><th scope="col">Device</th><th scope="col">Address</th><th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>
${devices.map(row)}
</tbody>
</table>
${ended.length > 0 && endedTable(ended)}
</section>`
}

function endedTable(ended: readonly EndedDevice[]) {
  return html`<h3 id="ended-devices">${ended.length > maxEnded ? `The last ${maxEnded} that ended` : 'Ended in the last 30 days'}</h3>
<table class="stack devices" aria-labelledby="ended-devices">
<thead><tr><th scope="col">Device</th><th scope="col">Address</th><th scope="col">Signed in</th><th scope="col">Ended</th><th scope="col">Why</th></tr></thead>
<tbody>
${ended.slice(0, maxEnded).map(endedRow)}
</tbody>
</table>`
}

function endedRow({ user_agent, address, created_at, ended_at, reason }: EndedDevice) {
  return html`<tr>
<td data-label="Device">${device(user_agent)}</td>
<td data-label="Address" class="address">${address}</td>
<td data-label="Signed in">${time(created_at)}</td>
<td data-label="Ended">${time(ended_at)}</td>
<td data-label="Why">${endWords[reason]}</td>
</tr>
`
}

function row({ id, user_agent, address, created_at, last_used_at, current }: Device) {
  return html`<tr>
<td data-label="Device"><span id="device-${id}">${device(user_agent)}${current && html` <span class="badge good">This device</span>`}</span></td>
<td data-label="Address" class="address">${address}</td>
<td data-label="Signed in">${time(created_at)}</td>
<td data-label="Last used">${time(last_used_at)}</td>
<td class="action"><form method="post" action="/console/account/devices/${id}/sign-out"><button class="small" aria-describedby="device-${id}">Sign out</button></form></td>
</tr>
`
}
