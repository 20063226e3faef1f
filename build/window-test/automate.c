/* Test only. Preloaded into the unmodified window program, this lets
 * WebKitWebDriver drive its one view: WebKit offers automation only to views
 * that were made for it, and to programs that answer when a session begins. */
#include <webkit2/webkit2.h>

static WebKitWebView *the_view;

static WebKitWebView *give_view(WebKitAutomationSession *session, gpointer unused) {
  (void)session, (void)unused;
  return the_view;
}

static void session_begins(WebKitWebContext *context, WebKitAutomationSession *session, gpointer unused) {
  (void)context, (void)unused;
  WebKitApplicationInfo *info = webkit_application_info_new();
  webkit_application_info_set_name(info, "atoll");
  webkit_automation_session_set_application_info(session, info);
  webkit_application_info_unref(info);
  g_signal_connect(session, "create-web-view", G_CALLBACK(give_view), NULL);
}

/* Takes the place of WebKit's function of this name. */
GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
  WebKitWebContext *context = webkit_web_context_get_default();
  webkit_web_context_set_automation_allowed(context, TRUE);
  g_signal_connect(context, "automation-started", G_CALLBACK(session_begins), NULL);
  the_view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "user-content-manager", manager,
                          "is-controlled-by-automation", TRUE, NULL);
  return GTK_WIDGET(the_view);
}
