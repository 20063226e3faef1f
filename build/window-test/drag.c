/* Test only. A small window from which the files of the command line can be
 * dragged, as from a file manager: drag FILE... */
#include <gtk/gtk.h>

static void give_files(GtkWidget *source, GdkDragContext *context, GtkSelectionData *data, guint info,
                       guint time, gpointer uris) {
  (void)source, (void)context, (void)info, (void)time;
  gtk_selection_data_set_uris(data, uris);
}

int main(int argc, char **argv) {
  gtk_init(&argc, &argv);
  char **uris = g_new0(char *, argc);
  for (int i = 1; i < argc; i++) {
    uris[i - 1] = g_filename_to_uri(argv[i], NULL, NULL);
  }
  GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
  GtkWidget *source = gtk_event_box_new();
  gtk_window_set_title(GTK_WINDOW(window), "atoll-test-drag");
  gtk_window_set_default_size(GTK_WINDOW(window), 120, 60);
  gtk_container_add(GTK_CONTAINER(source), gtk_label_new("drag"));
  gtk_container_add(GTK_CONTAINER(window), source);
  gtk_drag_source_set(source, GDK_BUTTON1_MASK, NULL, 0, GDK_ACTION_COPY);
  gtk_drag_source_add_uri_targets(source);
  g_signal_connect(source, "drag-data-get", G_CALLBACK(give_files), uris);
  g_signal_connect(window, "destroy", gtk_main_quit, NULL);
  gtk_widget_show_all(window);
  gtk_main();
  return 0;
}
