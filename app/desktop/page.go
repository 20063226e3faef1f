package desktop

import (
	"errors"
	"html/template"
	"io/fs"
	"net/http"

	"atoll/app/client"
	"atoll/app/fault"
	"atoll/app/web"
)

// handler serves the page and passes its calls on to the host behind d.
// Instead of a page that could do nothing it shows why there is no host.
func handler(page fs.FS, d *client.Door) http.Handler {
	inner := web.Page(page, d)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" || r.URL.Path == "" || r.URL.Path == "/index.html" {
			if err := ready(r, page, d); err != nil {
				refuse(w, fault.Of(err))
				return
			}
		}
		inner.ServeHTTP(w, r)
	})
}

func ready(r *http.Request, page fs.FS, d *client.Door) error {
	if _, err := fs.Stat(page, "index.html"); errors.Is(err, fs.ErrNotExist) {
		return fault.New("window.page", "This program was built without its page", "Build it again: make build.")
	}
	_, err := d.Host(r.Context())
	return err
}

// refusal needs no script and no file of the page. Its colours are the page's.
var refusal = template.Must(template.New("refusal").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Atoll</title><style>
:root { color-scheme: light dark; --bg: #fdfdfc; --ink: #17211f; --ink-2: #4d5a56; --line: #dfe5e2; --accent: #0b6e66; --on: #fff }
@media (prefers-color-scheme: dark) { :root { --bg: #141918; --ink: #e6ece9; --ink-2: #b3bfba; --line: #2c3633; --accent: #56c7b8; --on: #06231f } }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--bg); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 34rem; padding: 2rem }
h1 { font-size: 1.3rem; margin: 0 0 .5rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere; color: var(--ink-2); font-size: .8rem; border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem }
a { display: inline-block; padding: .4rem 1rem; border-radius: 6px; background: var(--accent); color: var(--on); text-decoration: none }
</style></head><body><main role="alert" data-testid="refusal" data-code="{{.Code}}">
<h1>{{.Title}}</h1>
{{with .Hint}}<p>{{.}}</p>{{end}}
{{with .Detail}}<pre>{{.}}</pre>{{end}}
<p><a href="/">Try again</a></p>
</main></body></html>
`))

// refuse shows f as a page of its own. The status is 200: the window shows
// nothing of a page with another.
func refuse(w http.ResponseWriter, f *fault.Fault) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", web.CSP)
	h.Set("Cache-Control", "no-store")
	_ = refusal.Execute(w, f) // the window may be gone
}
